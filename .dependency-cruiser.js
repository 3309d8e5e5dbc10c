/** The libs of each level. A lib imports lower levels only, and every lib is entered through its index.ts. */
const LEVELS = [
  ['clock', 'money', 'operator'],
  ['config', 'telemetry', 'database', 'embedded', 'redis'],
  ['http', 'locks', 'process', 'supervision', 'tenancy'],
  ['fleet', 'jobs', 'ledger', 'market-data', 'venues'],
  ['chain', 'lifecycle'],
  ['reconciliation', 'strategy'],
];

/** embedded runs programs with the environment that config allows; the others of that level stay apart. */
const BESIDE = { embedded: ['config'] };

const anyOf = (names) => `^libs/(${names.join('|')})/`;

const levelRules = LEVELS.flatMap((libs, level) =>
  libs.map((lib) => ({
    name: `level-${level}-${lib}`,
    comment: `libs/${lib} is at level ${level} and may import lower levels only.`,
    severity: 'error',
    from: { path: `^libs/${lib}/`, pathNot: '\\.spec\\.ts$' },
    to: {
      path: '^(libs|apps)/',
      pathNot: [anyOf([lib]), ...LEVELS.slice(0, level).map(anyOf), ...(BESIDE[lib] ? [anyOf(BESIDE[lib])] : [])],
    },
  })),
);

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'one-door',
      comment: 'A lib is entered through its index.ts.',
      severity: 'error',
      from: { path: '^(?:libs/([^/]+)/|apps/|test/|bench/|scripts/|migrations/)' },
      to: { path: '^libs/[^/]+/src/', pathNot: '^libs/$1/' },
    },
    {
      name: 'known-lib',
      comment: 'Every lib has its level in .dependency-cruiser.js.',
      severity: 'error',
      from: {},
      to: { path: '^libs/', pathNot: LEVELS.map(anyOf) },
    },
    {
      name: 'apps-apart',
      comment: 'Apps never import each other.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'no-tests-in-programs',
      comment: 'Programs do not import tests, their harness or development dependencies.',
      severity: 'error',
      from: { path: '^(apps|libs|migrations)/', pathNot: ['\\.spec\\.ts$', '/testing/'] },
      to: { path: ['^test/', '\\.spec\\.ts$', '/testing/'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      from: { path: '^(apps|libs|migrations)/', pathNot: ['\\.spec\\.ts$', '/testing/'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '^node_modules/@types/' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    ...levelRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
