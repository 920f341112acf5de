/** Texts of endpoints that are proposed from the paths of requests. */
export const proposedEndpointTexts = {
  open: 'Propose from logged paths',
  importDocument: 'Import OpenAPI',
  title: 'Endpoints from logged paths',
  about: (days: number) =>
    `Paths that clients called without an error in the last ${days} days. Ids in a path became parameters.`,
  empty: 'No request without an error was counted in this time.',
  action: (count: number) => (count === 1 ? 'Add 1 endpoint' : `Add ${count} endpoints`),
} as const;
