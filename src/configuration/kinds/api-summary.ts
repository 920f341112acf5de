import { summarize } from '#apis/api/rules.ts';
import { type DefinitionOfKind, emptyWrapper, type StoredApi } from '#apis/api/schema.ts';
import type { Spec } from '../schema.ts';

/** Name, route and versions of the API that a spec defines. */
export const summarizeSpec = ({ format, definition }: Spec): StoredApi['summary'] =>
  summarize({ kind: format, definition } as unknown as DefinitionOfKind, emptyWrapper);
