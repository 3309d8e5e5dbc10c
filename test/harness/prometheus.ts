import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { start, temporaryFolder } from './process.js';

const Config = z.strictObject({
  global: z.object({ scrape_interval: z.string(), evaluation_interval: z.string() }),
  rule_files: z.array(z.string()),
  scrape_configs: z.tuple([
    z.looseObject({
      job_name: z.literal('orchestrator'),
      static_configs: z.tuple([z.looseObject({ targets: z.tuple([z.string()]) })]),
    }),
    z.looseObject({
      job_name: z.literal('worker'),
      http_sd_configs: z.tuple([z.looseObject({ url: z.string(), refresh_interval: z.string() })]),
    }),
  ]),
});
const Samples = z.array(
  z.object({ metric: z.record(z.string(), z.string()), value: z.tuple([z.number(), z.string()]) }),
);
const Alerts = z.object({
  alerts: z.array(
    z.object({ labels: z.looseObject({ alertname: z.string(), severity: z.string() }), state: z.string() }),
  ),
});
type Sample = z.infer<typeof Samples>[number];

const QUICK = '1s';

/** A Prometheus with the configuration that we ship; only where it looks, and how often, is another. */
export class TestPrometheus {
  private constructor(private readonly address: string) {}

  /** Stopped when the test ends. */
  static async start(program: string, orchestrator: string): Promise<TestPrometheus> {
    const folder = temporaryFolder();
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, stringify(configFor(orchestrator)));
    const listen = '--web.listen-address=127.0.0.1:0';
    const started = start(
      program,
      [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`, listen],
      {},
    );
    const address = (await started.says(/"?Listening on"? address=(127\.0\.0\.1:\d+)/))[1] ?? '';
    await started.says(/ready to receive web requests/);
    return new TestPrometheus(`http://${address}`);
  }

  async query(expr: string): Promise<Sample[]> {
    const body = new URLSearchParams({ query: expr });
    const answer = await this.ask('/api/v1/query', { method: 'POST', body });
    const { result } = z.object({ result: z.unknown() }).parse(answer);
    return Samples.parse(result);
  }

  /** Of what it has, and of what its targets told it about without a value. */
  async metricNames(): Promise<Set<string>> {
    const names = z.array(z.string()).parse(await this.ask('/api/v1/label/__name__/values'));
    const told = z.record(z.string(), z.unknown()).parse(await this.ask('/api/v1/metadata'));
    return new Set([...names, ...Object.keys(told)]);
  }

  async firingAlerts(): Promise<{ alertname: string; severity: string }[]> {
    const { alerts } = Alerts.parse(await this.ask('/api/v1/alerts'));
    return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
  }

  private async ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const answer = await fetch(this.address + path, init);
    const { data, error } = z.object({ data: z.unknown(), error: z.string().optional() }).parse(await answer.json());
    if (error !== undefined) throw new Error(`Prometheus refused ${path}: ${error}`);
    return data;
  }
}

function configFor(orchestrator: string): z.infer<typeof Config> {
  const folder = resolve('deploy', 'prometheus');
  const config = Config.parse(parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8')));
  const [ofOrchestrator, ofWorkers] = config.scrape_configs;
  config.global = { ...config.global, scrape_interval: QUICK, evaluation_interval: QUICK };
  config.rule_files = config.rule_files.map((pattern) => join(folder, pattern));
  const [shipped] = ofOrchestrator.static_configs[0].targets;
  const here = new URL(orchestrator).host;
  ofOrchestrator.static_configs[0].targets = [here];
  const [discovery] = ofWorkers.http_sd_configs;
  discovery.url = discovery.url.replace(shipped, here);
  discovery.refresh_interval = QUICK;
  return config;
}
