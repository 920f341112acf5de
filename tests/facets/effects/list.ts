import type { Effect } from '../effect.ts';
import { server } from './server.ts';
import { tokens } from './tokens.ts';
import { versions } from './versions.ts';

export const effects: readonly Effect[] = [...server, ...tokens, ...versions];
