import { styleText } from 'node:util';

export type Color = 'bold' | 'dim' | 'green' | 'yellow' | 'red';
export type Paint = (color: Color, text: string) => string;

export const plain: Paint = (_color, text) => text;

/** Colors on a terminal only, whatever the environment forces; there styleText still heeds NO_COLOR. */
export function painterFor(stream: NodeJS.WriteStream): Paint {
  return stream.isTTY ? (color, text) => styleText(color, text, { stream }) : plain;
}
