import { ManualClock } from '#libs/clock';
import type { SupervisionSettings } from '../settings.js';
import { Supervisor } from '../supervisor.js';
import type { TaskNotice } from '../task.js';
import { Puppet } from './puppet.js';

export function setup(settings: Partial<SupervisionSettings> = {}) {
  const clock = new ManualClock();
  const notices: TaskNotice[] = [];
  const supervisor = new Supervisor({ clock, settings, observer: (notice) => notices.push(notice) });
  const add = (name: string, character?: 'obedient' | 'stubborn'): Puppet => {
    const puppet = new Puppet(clock, character);
    supervisor.addTask(name, puppet.task);
    return puppet;
  };
  const settle = (): Promise<void> => clock.advance(0);
  /** Fails the present run and lets the supervisor take notice. */
  const fail = async (puppet: Puppet, error?: Error): Promise<void> => {
    puppet.fail(error);
    await settle();
  };
  return { clock, notices, supervisor, add, settle, fail };
}

export function setupStarted(settings: Partial<SupervisionSettings> = {}): ReturnType<typeof setup> {
  const context = setup(settings);
  context.supervisor.start();
  return context;
}
