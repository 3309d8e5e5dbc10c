import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  conditionOf,
  metricsIn,
  readAlerts,
  readDashboards,
  readQueries,
  readRuleTests,
  type Dashboard,
} from './harness/monitoring.js';

const MONITORING = readFileSync(join('docs', 'monitoring.md'), 'utf8');
const HEADINGS = ['## What it means', '## Look here', '## Do this', '## Wake somebody'];
const WIDTH = 24;
/** Names in quotes that are roles of Postgres. */
const ROLES = new Set(['flotilla_app', 'flotilla_owner', 'flotilla_tenant']);

/** Every metric that a process of ours can serve: the names that stand in quotes in its code. */
function metricsOfTheCode(): Set<string> {
  const sources = ['apps', 'libs'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.includes('testing'))
      .map((path) => readFileSync(join(folder, path), 'utf8')),
  );
  const names = sources.flatMap((text) => [...text.matchAll(/['"`](flotilla_[a-z_]+)['"`]/g)].map(([, name]) => name));
  return new Set(names.filter((name): name is string => name !== undefined && !ROLES.has(name)));
}

function baseOf(metric: string): string {
  return metric.replace(/_(bucket|sum|count)$/, '');
}

/** The first cells of the table's rows under a heading. */
function tableUnder(heading: string): string[][] {
  const section = MONITORING.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| (?!-)(.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell) => cell.trim()),
  );
}

function overlaps({ panels }: Dashboard): string[] {
  const taken = new Map<string, string>();
  return panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
    const cells = Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`);
    const others = new Set(cells.map((cell) => taken.get(cell)).filter((other) => other !== undefined));
    for (const cell of cells) taken.set(cell, title);
    return [...others].map((other) => `${title} lies on ${other}`);
  });
}

describe('the alerts', () => {
  const alerts = readAlerts();
  const names = alerts.map(({ alert }) => alert);

  it('have names of their own, and each points to its runbook', () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { alert, annotations } of alerts) expect(annotations.runbook_url).toBe(`docs/runbooks/${alert}.md`);
  });

  it('have a runbook each, and each runbook has its alert', () => {
    expect(readdirSync(join('docs', 'runbooks')).toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
    for (const name of names) {
      const text = readFileSync(join('docs', 'runbooks', `${name}.md`), 'utf8');
      expect(text.startsWith(`# ${name}\n`), name).toBe(true);
      expect(text.match(/^## .*$/gm), name).toEqual(HEADINGS);
    }
  });

  it.each(alerts)('$alert ends in the comparison of something that always has data with a number', ({ expr }) => {
    expect(conditionOf(expr)).toBeDefined();
  });

  it.each(names)('%s has a test in which it fires, and one in which it does not', (name) => {
    const checks = readRuleTests().flatMap(({ promql_expr_test }) => promql_expr_test);
    const ofAlert = checks.filter(({ expr }) => expr === `ALERTS{alertname="${name}", alertstate="firing"}`);
    const outcomes = new Set(ofAlert.map(({ exp_samples }) => exp_samples.length > 0));
    expect([...outcomes].toSorted()).toEqual([false, true]);
  });
});

describe('the dashboards', () => {
  const dashboards = readDashboards();

  it('have names of their own, and ask the datasource that is provisioned', () => {
    expect(new Set(dashboards.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboards.length);
    expect(new Set(dashboards.map(({ dashboard }) => dashboard.title)).size).toBe(dashboards.length);
    const file = join('deploy', 'grafana', 'provisioning', 'datasources', 'prometheus.yaml');
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      datasources: [{ type: 'prometheus', uid: 'prometheus' }],
    });
  });

  it.each(dashboards)('$file is laid out without overlaps, a row of figures on top', ({ dashboard }) => {
    const { panels } = dashboard;
    expect(panels.map(({ id }) => id)).toEqual(panels.map((_, index) => index + 1));
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    expect(overlaps(dashboard)).toEqual([]);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(WIDTH);
    const top = panels.filter(({ gridPos }) => gridPos.y === 0);
    expect(top.map(({ type }) => type)).toEqual(top.map(() => 'stat'));
    expect(top.reduce((width, { gridPos }) => width + gridPos.w, 0)).toBe(WIDTH);
  });

  it.each(dashboards)('$file uses each of its variables, and no other', ({ dashboard }) => {
    const used = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/\$\w+/g) ?? []));
    const own = new Set(used.filter((name) => name !== '$__rate_interval').map((name) => name.slice(1)));
    expect([...own]).toEqual(dashboard.templating.list.map(({ name }) => name));
  });
});

describe('the metrics', () => {
  it('of rules and dashboards are metrics of the code', () => {
    const known = metricsOfTheCode();
    const unknown = readQueries().flatMap(({ where, expr }) =>
      metricsIn(expr)
        .filter((name) => name.startsWith('flotilla_') && !known.has(baseOf(name)) && !known.has(name))
        .map((name) => `${name} in ${where}`),
    );
    expect(unknown.join('\n')).toBe('');
  });

  it('of the code stand in docs/monitoring.md, and no others', () => {
    const told = tableUnder('Metrics').flatMap(([name = '']) => /^`(flotilla_[a-z_]+)`$/.exec(name)?.[1] ?? []);
    const known = metricsOfTheCode();
    expect(
      told.filter((name) => !known.has(name)),
      'in the table, and not in the code',
    ).toEqual([]);
    expect(
      [...known].filter((name) => !told.includes(name)),
      'in the code, and not in the table',
    ).toEqual([]);
  });

  it('lead to the alerts that docs/monitoring.md lists, each with its severity and its runbook', () => {
    const told = tableUnder('Alerts')
      .slice(1)
      .map(([name, severity]) => [name, severity]);
    const expected = readAlerts().map(({ alert, labels }) => [`[${alert}](runbooks/${alert}.md)`, labels.severity]);
    expect(told).toEqual(expected);
    for (const { alert } of readAlerts()) expect(existsSync(join('docs', 'runbooks', `${alert}.md`))).toBe(true);
  });
});
