/** What a strategy makes of the candles: the wish to enter, the wish to leave, or neither. */
export type Decision = 'ENTER' | 'LEAVE' | 'HOLD';
