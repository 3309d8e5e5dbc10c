export { Decimal, InvalidDecimal, type Rounding } from './src/decimal.js';
