import { z } from 'zod';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { problem } from './problems.ts';
import type { AssetStore } from './store.ts';

/** Query parameter of every operation that creates an API from a document. */
export const templateQuery = z.object({
  templateID: z.string().max(64).optional().describe('Id of the template that the document is merged over'),
});

export const templateProblems = [problem.template_not_permitted, problem.template_not_found];

/** Content of the template that a request names. */
export async function findTemplate(
  assets: AssetStore,
  actor: Actor,
  { templateID: id }: z.output<typeof templateQuery>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!id) return undefined;
  if (!hasPermission(actor, 'api_assets:read')) throw problem.template_not_permitted();
  const asset = await assets.get(actor.orgId, id);
  if (!asset) throw problem.template_not_found({ detail: { id } });
  return asset.data;
}
