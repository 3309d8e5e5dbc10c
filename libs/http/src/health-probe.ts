/** One thing that must work for this process to be ready. */
export interface HealthProbe {
  readonly name: string;
  /** Rejects when it does not work; resolves with figures worth showing. */
  check(): Promise<Record<string, unknown>>;
}
