import type { Effect } from '../effect.ts';
import { server } from './server.ts';

export const effects: readonly Effect[] = [...server];
