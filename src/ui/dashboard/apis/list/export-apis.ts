import { callServer } from '../../../kit/calls.ts';
import { saveAddress, saveJson } from '../../../kit/save-file.ts';
import type { ApiOutline } from '../api-outline.ts';

/** APIs of one request: ids are part of its address. */
const maxIdsPerRequest = 100;

/** Saves the definition of one API; `isPlain` leaves the settings of the gateway out of an OpenAPI document. */
export async function exportApi({ id, format }: ApiOutline, isPlain = false): Promise<void> {
  if (format === 'oas') {
    saveAddress(`/api/apis/oas/${encodeURIComponent(id)}/export${isPlain ? '?mode=public' : ''}`, `${id}.json`);
    return;
  }
  const { value } = await callServer('GET /api/apis/{apiId}', { params: { apiId: id } });
  saveJson(format === 'streams' ? value.oas : value.api_definition, `${id}.json`);
}

/** Saves several APIs as one file, in the format of lists, which `POST /admin/apis/import` reads. */
export async function exportApis(ids: readonly string[]): Promise<void> {
  const apis: unknown[] = [];
  for (let first = 0; first < ids.length; first += maxIdsPerRequest) {
    const api_ids = ids.slice(first, first + maxIdsPerRequest).join(',');
    const { value } = await callServer('GET /api/apis', { query: { api_ids, sort: 'name', p: -1 } });
    apis.push(...value.apis);
  }
  saveJson({ apis }, 'apis.json');
}
