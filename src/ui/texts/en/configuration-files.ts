import { pluralize } from '../pluralize.ts';

/** Texts of the export and import of the configuration, loaded with the settings. */
export const configurationFileTexts = {
  title: 'Export and import',
  about:
    'The file has groups, users, webhooks, certificates, templates, APIs and policies, as far as you may read them. Secrets are masked; keys, OAuth clients, sign-on profiles, analytics and audit records are not part of it.',
  export: 'Export configuration',
  exported: (count: string) => `${pluralize(count, 'object')} exported`,
  file: 'File of an export',
  prune: 'Delete objects that are not in the file',
  pruneHelp: 'Only of kinds that the file has, for example policies.',
  preview: 'Preview import',
  unreadable: 'The file is no export of a configuration: it is not JSON with a list “objects”.',
  planTitle: 'Changes of the import',
  noChanges: 'Nothing would change.',
  unchanged: (count: string) => `Unchanged: ${pluralize(count, 'object')}.`,
  counts: (created: string, updated: string, deleted: string) =>
    `${created} created, ${updated} changed, ${deleted} deleted`,
  actions: { create: 'Create', update: 'Change', delete: 'Delete' },
  columns: { action: 'Action', kind: 'Kind', id: 'Id', members: 'Members' },
  more: (count: string) => `and ${count} more`,
  traffic: (apis: string, keys: string) =>
    `Served differently: ${pluralize(apis, 'API')}; affected: ${pluralize(keys, 'key')}.`,
  apply: 'Import',
  applyTitle: 'Import the configuration?',
  applyConsequence: (counts: string) =>
    `${counts}. All of it is changed at once, or nothing where one object is refused; traffic follows at once.`,
  applyAction: 'Import configuration',
  applied: (counts: string) => `Configuration imported: ${counts}`,
} as const;
