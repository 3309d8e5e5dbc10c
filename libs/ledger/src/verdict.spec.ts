import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { explainRefusal, REFUSAL_CODES } from '../index.js';

describe('explainRefusal', () => {
  it('says for each code in one sentence what is wrong and what to do', () => {
    for (const code of REFUSAL_CODES) {
      expect(explainRefusal(code), code).toMatch(/^[A-Z][^.;]{20,}.*; [a-z].*[^.]\.$/);
      expect(explainRefusal(code), code).not.toMatch(/undefined|\s\s/);
    }
  });

  it('names the detail', () => {
    expect(explainRefusal('insufficient_capital', '12.5')).toContain('(12.5 left)');
    expect(explainRefusal('halted', 'profile: storm')).toContain('(profile: storm)');
    expect(explainRefusal('field_missing', 'venue')).toContain('"venue"');
    expect(explainRefusal('limit_order_notional', '50')).toContain('limit of 50');
  });

  it('explains the codes that docs/ledger.md lists, and no others', () => {
    const section = /## Refusals\n(.*?)\n## /s.exec(readFileSync('docs/ledger.md', 'utf8'))?.[1] ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
    expect(listed.sort()).toEqual([...REFUSAL_CODES].sort());
  });
});
