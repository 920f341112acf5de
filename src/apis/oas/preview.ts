import type { Settings } from '#base/settings.ts';
import { extensionName } from '#definition/document-members.ts';
import type { ImportOptions } from '#definition/import-options.ts';
import { importOas } from '#definition/oas-import.ts';
import { patchOas } from '#definition/oas-patch.ts';
import { mergeTemplate } from '#definition/oas-template.ts';
import type { OasDefinition } from '#definition/wire-types.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { CheckedDefinition } from '../api/changes.ts';
import type { ApiStore } from '../api/store.ts';
import { type VersionOptions, withVersion } from '../api/versions.ts';
import { rejectSwagger } from '../gw/documents.ts';
import { problem } from '../problems.ts';
import { checkBuiltOas, checkOasDocument, rejectExtension } from './documents.ts';

interface PreviewInput {
  readonly oas?: Record<string, unknown> | undefined;
  readonly gw_oas?: Record<string, unknown> | undefined;
  readonly template?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Dry run: the document that an import (`oas` alone), a patch (both) or changed options (`gw_oas` alone) would give.
 */
export function previewDocument(
  { oas, gw_oas: stored, template }: PreviewInput,
  options: ImportOptions,
  services: { settings: Settings },
): CheckedDefinition<'oas'> {
  if (!oas && !stored) throw problem.document_missing();
  rejectSwagger(oas);
  rejectExtension(oas);
  if (!stored) return checkBuiltOas(importOas(oas, options, template), services);
  if (oas && template)
    throw createInvalidProblem([{ path: 'templateID', message: 'applies to new APIs: send one document' }]);
  const { definition } = checkOasDocument(template ? mergeTemplate(template, stored) : stored, services);
  return checkBuiltOas(patchOas(definition, oas ?? withoutExtension(definition), options), services);
}

function withoutExtension({ [extensionName]: _extension, ...document }: OasDefinition): Record<string, unknown> {
  return document;
}

/** Checks the version parameters of an API that is not created. */
export async function checkVersionOptions(apis: ApiStore, orgId: string, version: VersionOptions): Promise<void> {
  if (!version.base_api_id) return;
  const base = await apis.get(orgId, version.base_api_id);
  if (!base) throw problem.base_not_found({ detail: { id: version.base_api_id } });
  if (base.kind !== 'oas') throw problem.base_of_other_form();
  withVersion(base, '', version);
}
