import type { UserPreferences } from '../../session/preferences.ts';

/** Bounds of the server: examples of all APIs, characters of the last of them, and bytes of all preferences. */
const maxExamples = 50;
const maxCharacters = { path: 2000, headers: 8000, body: 8000 } as const;
const maxPreferencesBytes = 65_536;

export type StoredExample = UserPreferences['tried_examples'][number];
export type ExampleFault = keyof typeof maxCharacters | 'full' | 'all';

/** Why the server refuses preferences for the example that was added last; undefined where it does not. */
export function findExampleFault(preferences: UserPreferences): ExampleFault | undefined {
  const { tried_examples: examples } = preferences;
  if (examples.length > maxExamples) return 'full';
  const added = examples.at(-1);
  for (const part of ['path', 'headers', 'body'] as const)
    if ((added?.[part].length ?? 0) > maxCharacters[part]) return part;
  return new TextEncoder().encode(JSON.stringify(preferences)).length > maxPreferencesBytes ? 'all' : undefined;
}
