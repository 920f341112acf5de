import type { Effect } from '../effect.ts';
import { checks } from './checks.ts';
import { server } from './server.ts';
import { tokens } from './tokens.ts';
import { versions } from './versions.ts';

export const effects: readonly Effect[] = [...checks, ...server, ...tokens, ...versions];
