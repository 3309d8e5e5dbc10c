export { OperatorError } from './src/operator-error.js';
