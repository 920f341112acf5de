import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { callServer, type ResultOf } from '../../kit/calls.ts';
import { setFormats } from '../../kit/format.ts';
import { applyAppearance, readStoredTheme } from '../../kit/theme.ts';

export type UserPreferences = ResultOf<'GET /api/preferences'>;

const preferencesKey = ['GET /api/preferences', {}] as const;

/** Preferences of the user, stored on the server, and a function that changes some of them at once. */
export function usePreferences() {
  const client = useQueryClient();
  const { data: preferences } = useQuery({
    queryKey: preferencesKey,
    queryFn: async () => (await callServer('GET /api/preferences', {})).value,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { mutate } = useMutation({
    mutationFn: (next: UserPreferences) => callServer('PUT /api/preferences', { body: next }),
    // A refused change is not shown as if it were stored.
    onError: () => client.invalidateQueries({ queryKey: preferencesKey }),
  });
  const change = (some: Partial<UserPreferences>) => {
    const latest = client.getQueryData<UserPreferences>(preferencesKey);
    if (!latest) return;
    const next = { ...latest, ...some };
    client.setQueryData(preferencesKey, next);
    mutate(next);
  };
  return { preferences, change };
}

/** Applies theme, density, zone and language as soon as they are known. */
export function useAppearance(preferences: UserPreferences | undefined): void {
  const theme = preferences?.theme ?? readStoredTheme();
  const density = preferences?.density;
  const timeZone = preferences?.time_zone ?? '';
  const language = preferences?.language ?? '';
  useEffect(() => {
    if (density) applyAppearance(theme, density);
  }, [theme, density]);
  useEffect(() => setFormats({ timeZone, language }), [timeZone, language]);
}
