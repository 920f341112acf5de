import type { Clock } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as peopleProblem } from '../problems.ts';
import { problem } from './problems.ts';
import { defaultPreferences, Preferences } from './schema.ts';
import type { PreferenceStore } from './store.ts';

interface PreferenceServices {
  preferences: PreferenceStore;
  clock: Clock;
}

const declared = {
  surface: 'dashboard',
  noun: 'preferences',
  path: '/api/preferences',
  permission: 'any user',
} as const;

export const getPreferences = operation({
  ...declared,
  name: 'getPreferences',
  method: 'GET',
  about: 'Returns the caller’s preferences for the web app; the defaults where none are stored.',
  returns: Preferences,
  async handle({ actor }, { preferences }: PreferenceServices) {
    if (actor.temporaryUser) return defaultPreferences;
    return (await preferences.find({ orgId: actor.orgId, userId: actor.id })) ?? defaultPreferences;
  },
});

export const updatePreferences = operation({
  ...declared,
  name: 'updatePreferences',
  method: 'PUT',
  about: 'Replaces the caller’s preferences; omitted members get their defaults.',
  body: Preferences,
  returns: statusResponse,
  problems: [problem.account_required, peopleProblem.user_not_found],
  async handle({ actor, body, audit }, { preferences, clock }: PreferenceServices) {
    audit(actor.id);
    if (actor.temporaryUser) throw problem.account_required();
    const isStored = await preferences.replace({ orgId: actor.orgId, userId: actor.id }, body, clock.now());
    if (!isStored) throw peopleProblem.user_not_found();
    return toStatus('Preferences updated');
  },
});

export const preferenceOperations = [getPreferences, updatePreferences];
