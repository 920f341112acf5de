import { createRequire } from 'node:module';

type Undici = typeof import('undici');

const require = createRequire(import.meta.url);
let loaded: Undici | undefined;

/** Loads undici on first use: it is the largest dependency, and an idle process sends no request. */
export function loadUndici(): Undici {
  loaded ??= require('undici') as Undici;
  return loaded;
}
