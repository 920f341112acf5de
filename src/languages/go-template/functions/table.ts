import { dates } from './dates.ts';
import { encoding } from './encoding.ts';
import type { Fn } from './fn.ts';
import { lists } from './lists.ts';
import { logic } from './logic.ts';
import { maps } from './maps.ts';
import { numbers } from './numbers.ts';
import { places } from './paths.ts';
import { patterns } from './patterns.ts';
import { printing } from './print.ts';
import { chance } from './random.ts';
import { releases } from './semver.ts';
import { strings } from './strings.ts';
import { kinds } from './types.ts';
import { xml } from './xml-text.ts';

export { changing } from './maps.ts';

/**
 * Every function a template may call. Not among them are those that read the environment, ask the network, or compute
 * certificates and slow hashes: a template runs while a caller waits, and sees what it is given.
 */
export const functionTable: ReadonlyMap<string, Fn> = new Map(
  [
    logic,
    printing,
    strings,
    numbers,
    lists,
    maps,
    kinds,
    encoding,
    patterns,
    dates,
    places,
    releases,
    chance,
    xml,
  ].flatMap(table => Object.entries(table)),
);
