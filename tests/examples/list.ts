import { callers } from './callers.ts';
import type { Example } from './example.ts';
import { limits } from './limits.ts';
import { places } from './places.ts';
import { shaping } from './shaping.ts';
import { upstreams } from './upstreams.ts';

/** All examples by name, as the page groups them. */
export const groups: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  'Who may call': callers,
  'How often, how much': limits,
  'Changed, checked and made up': shaping,
  Upstreams: upstreams,
  'Places, versions and what is told': places,
};

export const examples: ReadonlyMap<string, Example> = new Map(
  Object.values(groups).flatMap(group => Object.entries(group)),
);
