/** Texts of the persisted operations of an API. */
export const persistedTexts = {
  about: 'Each endpoint sends one GraphQL operation of the definition to the root of the upstream.',
  list: 'Persisted operations',
  version: 'Version',
  columns: { method: 'Method', path: 'Path', operation: 'Operation', variables: 'Variables' },
  unnamed: 'without a name',
  emptyTitle: 'No persisted operations',
  emptyAbout: 'Clients call an endpoint of yours; the gateway sends the operation and the variables.',
  add: 'Add persisted operation',
  edit: 'Edit operation',
  remove: 'Remove operation',
  editorTitle: (method: string, path: string) => `${method} ${path}`,
  pathHelp: 'Below the listen path; {name} is a segment.',
  pathInvalid: 'Begins with a slash',
  operationLabel: 'GraphQL operation',
  checkedBySchema: 'The server checks the operation against the schema of the API.',
  checkedBySyntax: 'The definition has no schema: the server checks the syntax alone.',
  variablesLabel: 'Variables of the operation as JSON',
  variablesHelp:
    'Values may contain $path.name for a segment, and variables of the request such as $gw_context.remote_addr.',
  classicOnly: 'Persisted operations need a classic definition',
  classicOnlyAbout: 'The OpenAPI format has no member for them.',
} as const;
