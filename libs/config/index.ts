export { ConfigError, parseConfig, readConfig, type Config } from './src/config.js';
export { findMisspellings } from './src/misspelling.js';
export { bareEnvironment, childEnvironment, findProgram, readNamedVariable } from './src/program.js';
export { settings, settingsTable } from './src/settings.js';
