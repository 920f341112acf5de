import { callers } from './callers.ts';
import type { Example } from './example.ts';
import { limits } from './limits.ts';
import { places } from './places.ts';
import { shaping } from './shaping.ts';
import { upstreams } from './upstreams.ts';

/** All examples by name, as the page groups them. */
export const groups: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  Security: callers,
  'Limits and caching': limits,
  'Transforms, validation and mocks': shaping,
  Upstreams: upstreams,
  'Routing, versions, events and analytics': places,
};

export const examples: ReadonlyMap<string, Example> = new Map(
  Object.values(groups).flatMap(group => Object.entries(group)),
);
