import { describe, expect, it } from 'vitest';
import { parseCommandLine, UsageError } from './command-line.js';
import type { Command, CommandContext, CommandOptions } from './command.js';

/** Two commands that remember what they were asked to do. */
function setup() {
  const calls: [string, CommandOptions & { pair?: string }][] = [];
  const commands: Command[] = [
    {
      name: 'look',
      summary: 'looks at all',
      takes: 'nothing',
      options: ['json'],
      run: async (_context, options) => void calls.push(['look', options]),
    },
    {
      name: 'read',
      summary: 'reads one',
      takes: 'pair',
      options: ['lines'],
      run: async (_context, options) => void calls.push(['read', options]),
    },
  ];
  return {
    calls,
    parse: (...args: string[]) => parseCommandLine(args, commands),
    run: async (...args: string[]) => {
      const wish = parseCommandLine(args, commands);
      if (wish.kind === 'run') await wish.act({} as CommandContext);
      return wish;
    },
    faultOf: (...args: string[]): UsageError => {
      try {
        parseCommandLine(args, commands);
      } catch (error) {
        if (error instanceof UsageError) return error;
        throw error;
      }
      throw new Error('Expected a UsageError.');
    },
  };
}

describe('a command line', () => {
  it('runs the command that it names, with defaults for what it leaves open', async () => {
    const { run, calls } = setup();
    await run('look');
    await run('read', 'BTC-USD');
    expect(calls).toEqual([
      ['look', { json: false, lines: 50 }],
      ['read', { json: false, lines: 50, pair: 'BTC-USD' }],
    ]);
  });

  it('has its options before or after the command', async () => {
    const { run, calls } = setup();
    expect(await run('--lines', '3', 'read', 'BTC-USD')).toMatchObject({ url: undefined });
    expect(await run('read', 'BTC-USD', '--lines=3', '--url', 'http://h:1/')).toMatchObject({ url: 'http://h:1' });
    expect(calls[0]).toEqual(calls[1]);
    expect(calls[0]?.[1].lines).toBe(3);
  });

  it('keeps the path of an address behind a proxy', () => {
    expect(setup().parse('look', '--url', 'https://h/flotilla/')).toMatchObject({ url: 'https://h/flotilla' });
  });

  it.each([
    [[], 'Expected a command.'],
    [['leap'], 'There is no command "leap".'],
    [['leap', '--help'], 'There is no command "leap".'],
    [['look', '--loud'], "Unknown option '--loud'."],
    [['look', '--lines', '3'], '"look" has no option --lines.'],
    [['read', 'A', '--json'], '"read" has no option --json.'],
    [['look', 'A'], '"look" takes no argument, got "A".'],
    [['read'], '"read" takes the id of one pair, got "".'],
    [['read', 'A', 'B'], '"read" takes the id of one pair, got "A B".'],
    [['read', '..'], '"read" takes the id of one pair, got "..".'],
    [['read', 'A', '--lines', '0'], 'Expected a whole number from 1 on after --lines, got "0".'],
    [['read', 'A', '--lines', '1.5'], 'Expected a whole number from 1 on after --lines, got "1.5".'],
    [['read', 'A', '--lines'], "Option '--lines <value>' argument missing."],
    [['look', '--url', 'localhost:3001'], 'Expected an address like http://127.0.0.1:3001 after --url.'],
  ])('is refused when it makes no sense: %j', (args, message) => {
    expect(setup().faultOf(...args).message).toBe(message);
  });

  it('is refused with the usage of its command where it names one, else with that of all', () => {
    const { faultOf } = setup();
    expect(faultOf('read').usage).toMatch(/^Usage: flotilla read <pair> \[--lines N\]/);
    expect(faultOf('leap').usage).toMatch(/^Usage: flotilla <command>/);
  });

  it('never has the password of an address repeated', () => {
    const { message, usage } = setup().faultOf('look', '--url', 'http://me:hunter2@h');
    expect(message + usage).not.toContain('hunter2');
  });
});

describe('--help', () => {
  it('alone lists every command', () => {
    expect(setup().parse('--help')).toMatchObject({ kind: 'help', text: expect.stringMatching(/look .*\n.*read /) });
  });

  it.each([
    ['read', '--help'],
    ['-h', 'read'],
  ])('tells of one command, whatever else is missing: %s %s', (...args) => {
    expect(setup().parse(...args)).toMatchObject({ text: expect.stringContaining('reads one') });
  });
});
