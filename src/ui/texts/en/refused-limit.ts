/** Texts about the limit that refused a request, loaded with it. */
export const refusedLimitTexts = {
  rate: (value: string, origin: string) => `Refused by the rate limit of ${origin}: ${value}.`,
  quota: (value: string, origin: string) => `Refused by the quota of ${origin}: ${value}.`,
  key: 'the key',
  policies: (names: readonly string[]) => `${names.length === 1 ? 'policy' : 'policies'} ${names.join(', ')}`,
  several: 'its APIs',
  api: (value: string) => `Refused by the rate limit of the API over all clients: ${value}.`,
  endpoints: (values: string) => `Refused by a rate limit of the API over all clients: ${values}.`,
  organisation: 'Refused by a limit of the organisation over all its APIs.',
  openOrganisation: 'Limits of the organisation',
} as const;
