import type { Effect } from '../effect.ts';
import { checks } from './checks.ts';
import { endpoints } from './endpoints.ts';
import { server } from './server.ts';
import { sources } from './sources.ts';
import { tokens } from './tokens.ts';
import { transforms } from './transforms.ts';
import { versions } from './versions.ts';

export const effects: readonly Effect[] = [
  ...checks,
  ...endpoints,
  ...server,
  ...sources,
  ...tokens,
  ...transforms,
  ...versions,
];
