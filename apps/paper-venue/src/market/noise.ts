/** A source of noise: the same name and seed give the same source, on every machine and for ever. */
export function noiseSource(seed: number, name: string): number {
  let source = mixed(mixed(0, seed), highWord(seed));
  for (let index = 0; index < name.length; index += 1) source = mixed(source, name.charCodeAt(index));
  return source;
}

/** From 0 to just below 1, without any pattern in the index. */
export function noise(source: number, index: number): number {
  let bits = mixed(mixed(source, index), highWord(index));
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** A round of MurmurHash3, which takes 32 bits of the word; noise() ends with its finish. */
function mixed(state: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(state ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by));
}

function highWord(value: number): number {
  return Math.floor(value / 2 ** 32);
}
