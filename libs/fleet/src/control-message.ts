import { z } from 'zod';

const ControlMessage = z.object({
  type: z.enum(['SHUTDOWN', 'RESTART', 'CONFIG_CHANGED']),
  pairId: z.string().optional(),
});
export type ControlMessage = z.infer<typeof ControlMessage>;

/** JSON, or the bare word as typed in redis-cli. Undefined for anything else. */
export function parseControlMessage(text: string): ControlMessage | undefined {
  const bare = ControlMessage.safeParse({ type: text.trim() });
  if (bare.success) return bare.data;
  try {
    return ControlMessage.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Whether a message is meant for this worker: one without a pair is meant for all. */
export function concerns(message: ControlMessage, id: string): boolean {
  return message.pairId === undefined || message.pairId === id;
}
