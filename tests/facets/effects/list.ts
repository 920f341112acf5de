import type { Effect } from '../effect.ts';
import { bodies } from './bodies.ts';
import { caches } from './caches.ts';
import { callers } from './callers.ts';
import { checks } from './checks.ts';
import { endpoints } from './endpoints.ts';
import { pages } from './pages.ts';
import { server } from './server.ts';
import { transforms } from './transforms.ts';
import { versions } from './versions.ts';

export const effects: readonly Effect[] = [
  ...pages,
  ...caches,
  ...bodies,
  ...callers,
  ...checks,
  ...endpoints,
  ...server,
  ...transforms,
  ...versions,
];
