import { extensionName } from '#definition/document-members.ts';
import { problem } from '../problems.ts';
import { readApiId } from './rules.ts';
import type { DefinitionOfKind, StoredApi } from './schema.ts';

/** Id of a definition, where it has one, must be that of the API. `path` is its member in the request body. */
export function ensureSameId(
  written: DefinitionOfKind,
  { api_id }: StoredApi,
  path = `${extensionName}.info.id`,
): void {
  const given = readApiId(written);
  if (given !== '' && given !== api_id) throw problem.other_id({ detail: { path, given, wanted: api_id } });
}
