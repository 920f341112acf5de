/** Texts of the page that converts a classic API. */
export const migrationTexts = {
  title: 'Convert to the OpenAPI format',
  about:
    'Left: the classic definition. Right: the document it becomes. A staged copy is served beside the API, at a path of its own; the promotion replaces the API with it and keeps its id, keys and policies.',
  diffLabel: 'Classic definition and converted document',
  versions: (count: number) =>
    count === 1 ? 'One version becomes an API of its own.' : `${count} versions become APIs of their own.`,
  unconverted: 'Members without an equivalent: they stay in x-gw-classic, without effect',
  stage: 'Stage a copy',
  stageAgain: 'Stage again',
  staged: 'A copy is staged',
  stagedAt: (path: string) => `The staged copy answers at ${path}`,
  openStaged: 'Open the staged copy',
  promote: 'Promote the copy',
  promoteTitle: (name: string) => `Replace ${name} with its staged copy?`,
  promoteAbout: 'The API is served from its converted document at once. Its id, keys and policies stay.',
  promoteAction: (name: string) => `Promote the copy of ${name}`,
  promoted: (name: string) => `API ${name} is in the OpenAPI format`,
} as const;
