import type { Effect } from '../effect.ts';
import { server } from './server.ts';
import { tokens } from './tokens.ts';

export const effects: readonly Effect[] = [...server, ...tokens];
