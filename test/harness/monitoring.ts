import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const PROMETHEUS = join('deploy', 'prometheus');
const DASHBOARDS = join('deploy', 'grafana', 'dashboards');

const Alert = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string().min(80), runbook_url: z.string() }),
});
const Recording = z.strictObject({ record: z.string(), expr: z.string() });
const RuleFile = z.object({
  groups: z.array(z.object({ name: z.string(), rules: z.array(z.union([Alert, Recording])) })),
});
export type Alert = z.infer<typeof Alert>;

const RuleTest = z.object({
  name: z.string(),
  promql_expr_test: z.array(z.object({ expr: z.string(), exp_samples: z.array(z.unknown()) })),
});

const Datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('prometheus') });
const Panel = z.object({
  id: z.int(),
  type: z.enum(['stat', 'timeseries']),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource: Datasource,
  gridPos: z.strictObject({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string().min(1) })).min(1),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string().min(1) }) }),
});
const Dashboard = z.object({
  uid: z.string().startsWith('flotilla-'),
  title: z.string().startsWith('Flotilla: '),
  description: z.string().min(1),
  tags: z.tuple([z.literal('flotilla')]),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), datasource: Datasource, definition: z.string() })),
  }),
  panels: z.array(Panel).min(1),
});
export type Dashboard = z.infer<typeof Dashboard>;

/** A question to Prometheus, and where it stands. */
export interface Query {
  readonly where: string;
  readonly expr: string;
}

export function readAlerts(): Alert[] {
  return readRules().flatMap(({ rule }) => ('alert' in rule ? [rule] : []));
}

/** What every rule and every panel asks. Of an alert it is what stands left of its comparison: that always has data. */
export function readQueries(): Query[] {
  const ofRules = readRules().map(({ file, rule }) =>
    'alert' in rule
      ? { where: `${file}: ${rule.alert}`, expr: conditionOf(rule.expr)?.left ?? rule.expr }
      : { where: `${file}: ${rule.record}`, expr: rule.expr },
  );
  const ofDashboards = readDashboards().flatMap(({ file, dashboard: { templating, panels } }) => [
    ...templating.list.map(({ name, definition }) => ({ where: `${file}: $${name}`, expr: valuesOf(definition) })),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({ where: `${file}: ${title} (${refId})`, expr })),
    ),
  ]);
  return [...ofRules, ...ofDashboards];
}

export function readRuleTests(): z.infer<typeof RuleTest>[] {
  const folder = join(PROMETHEUS, 'tests');
  return readdirSync(folder).flatMap(
    (file) => z.object({ tests: z.array(RuleTest) }).parse(parse(readFileSync(join(folder, file), 'utf8'))).tests,
  );
}

export function readDashboards(): { file: string; dashboard: Dashboard }[] {
  return readdirSync(DASHBOARDS).map((file) => ({
    file,
    dashboard: Dashboard.parse(JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8'))),
  }));
}

/** The last comparison of an alert; undefined unless it is one of the whole left side with a number. */
export function conditionOf(expr: string): { readonly left: string } | undefined {
  const left = /^(.+) (?:[<>]=?|[!=]=) [\d.e]+$/.exec(expr.replaceAll(/\s+/g, ' ').trim())?.[1];
  return left === undefined || /\b(and|or|unless)\b/.test(withoutBrackets(left)) ? undefined : { left };
}

/** The names of the metrics in an expression: the words that are no function, no label, no duration. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  const words = bare.match(/(?<![\w:])[a-zA-Z_:][\w:]*(?![\w:]|\s*\()/g) ?? [];
  return [...new Set(words)].filter((word) => !['and', 'or', 'unless', 'offset', 'bool'].includes(word));
}

function readRules(): { file: string; rule: z.infer<typeof Alert> | z.infer<typeof Recording> }[] {
  const folder = join(PROMETHEUS, 'rules');
  return readdirSync(folder).flatMap((file) =>
    RuleFile.parse(parse(readFileSync(join(folder, file), 'utf8'))).groups.flatMap(({ rules }) =>
      rules.map((rule) => ({ file, rule })),
    ),
  );
}

/** The variable of a dashboard as Prometheus would be asked for it. */
function valuesOf(definition: string): string {
  const [, metric = '', label = ''] = /^label_values\(([\w:]+), (\w+)\)$/.exec(definition) ?? [];
  return `group by (${label}) (${metric}{${label}!=""})`;
}

function withoutBrackets(expr: string): string {
  const inner = expr.replaceAll(/"[^"]*"/g, '').replaceAll(/\([^()]*\)/g, '');
  return inner === expr ? inner : withoutBrackets(inner);
}
