import { compareCodePoints } from '#base/compare-code-points.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { type ConfigurationServices, createRunContext, type Kind, type RunContext } from './kind.ts';
import { kinds } from './kinds/kinds.ts';
import { findMasked } from './member-diff.ts';
import { problem } from './problems.ts';
import type { ExportedObject, KindName } from './schema.ts';

export interface ExportPage {
  readonly objects: ExportedObject[];
  /** Kinds of the export, those without objects included. */
  readonly kinds: KindName[];
  /** Cursor of the next page; undefined after the last. */
  readonly next: string | undefined;
}

interface ExportRequest {
  /** Kinds to export; those that the actor may not read are left out where none is named. */
  readonly kinds: readonly KindName[] | undefined;
  readonly after: string;
  readonly size: number;
}

/** A page of the configuration: kinds in the order of application, objects in the order of their ids, secrets masked. */
export async function exportConfiguration(
  services: ConfigurationServices,
  actor: Actor,
  { kinds: named, after, size }: ExportRequest,
): Promise<ExportPage> {
  const context = createRunContext(services, actor);
  const readable = kinds.filter(({ name, permission }) =>
    named ? named.includes(name) : hasPermission(actor, `${permission}:read`),
  );
  const names = readable.map(({ name }) => name);
  const cursor = parseCursor(after);
  const start = cursor ? readable.findIndex(({ name }) => name === cursor.kind) : 0;
  if (start < 0) throw problem.cursor_invalid();
  const objects: ExportedObject[] = [];
  for (const [at, kind] of readable.entries()) {
    if (at < start) continue;
    const afterId = cursor && at === start ? cursor.id : '';
    const found = await listPage(context, kind, afterId, size - objects.length);
    objects.push(...found);
    if (objects.length >= size) return { objects, kinds: names, next: formatCursor(objects.at(-1)!) };
  }
  return { objects, kinds: names, next: undefined };
}

async function listPage(context: RunContext, kind: Kind, after: string, size: number): Promise<ExportedObject[]> {
  const stored = kind.listAfter
    ? await kind.listAfter(context, after, size)
    : (await kind.list(context)).filter(({ id }) => after === '' || isAfter(id, after)).slice(0, size);
  return stored.map(({ id, spec }) => {
    const masked = kind.mask(spec);
    const secrets = findMasked(spec, masked).map(path => [...path]);
    return { kind: kind.name, id, spec: { ...masked }, ...(secrets.length > 0 && { secrets }) };
  });
}

const isAfter = (id: string, after: string) => compareCodePoints(id, after) > 0;

const formatCursor = ({ kind, id }: Pick<ExportedObject, 'kind' | 'id'>) => `${kind}:${id}`;

function parseCursor(text: string) {
  if (text === '') return undefined;
  const [, kind, id] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (kind === undefined || id === undefined) throw problem.cursor_invalid();
  return { kind, id };
}
