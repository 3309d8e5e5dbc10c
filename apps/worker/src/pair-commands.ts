import { concerns, revisionOf, type ControlChannel, type ControlMessage, type PairConfigs } from '#libs/fleet';
import type { Logger } from '#libs/telemetry';

interface Parts {
  readonly id: string;
  /** Of the configuration that this worker runs with. */
  readonly revision: string;
  readonly configs: PairConfigs;
  readonly logger: Logger;
  stop(): void;
  /** Leaves the flag that lets the orchestrator start the next process at once. */
  wishRestart(): Promise<void>;
}

/** Obeys the control channel. Resolves with how to stop listening. */
export function listenForCommands(channel: ControlChannel, parts: Parts): Promise<() => void> {
  return channel.subscribe({
    malformed: (text) => parts.logger.warn(`Ignored a message on the control channel: ${text.slice(0, 100)}`),
    received: (message) => {
      if (!concerns(message, parts.id)) return;
      obey(message, parts).catch((error: unknown) =>
        parts.logger.error({ err: error }, `Obeying ${message.type} failed`),
      );
    },
  });
}

async function obey(message: ControlMessage, parts: Parts): Promise<void> {
  parts.logger.info(`Told to ${message.type}`);
  switch (message.type) {
    case 'SHUTDOWN':
      return parts.stop();
    case 'RESTART':
      return restart(parts);
    case 'CONFIG_CHANGED': {
      const pair = await parts.configs.find(parts.id);
      if (!pair?.enabled) return parts.stop();
      if (revisionOf(pair) !== parts.revision) await restart(parts);
    }
  }
}

async function restart(parts: Parts): Promise<void> {
  await parts
    .wishRestart()
    .catch((error: unknown) => parts.logger.warn({ err: error }, 'The next start will wait for its backoff'));
  parts.stop();
}
