export { buildInfo } from './src/build-info.js';
export { createLogger, isPretty, loggerModule, type Logger } from './src/logger.js';
export { metricsModule } from './src/metrics.js';
export { NestLogger } from './src/nest-logger.js';
