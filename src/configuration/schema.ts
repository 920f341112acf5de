import { z } from 'zod';
import { freeForm, readOnlyMembers } from '#base/members.ts';

/** Kinds of configuration objects, in the order in which they are applied: an object follows those that it names. */
export const kindNames = ['group', 'user', 'webhook', 'certificate', 'template', 'api', 'policy'] as const;
export type KindName = (typeof kindNames)[number];

/** Members of an object, without its id and without what the server derives. */
export type Spec = Readonly<Record<string, unknown>>;

/** Objects of one plan or apply. */
export const maxObjects = 50_000;
const maxIdLength = 256;

const kind = z.enum(kindNames);
const id = z.string().min(1).max(maxIdLength);
const spec = freeForm(z.looseObject({}));

export const ConfigurationObject = readOnlyMembers(z.object({ kind, id, spec }), ['secrets']);
export type ConfigurationObject = z.output<typeof ConfigurationObject>;

/** Member names and array indexes from the spec to a value. */
const memberPath = z.array(z.union([z.string(), z.int()]));

export const ExportedObject = z.object({
  kind,
  id,
  spec: z.looseObject({}),
  secrets: z.array(memberPath).optional().describe('Paths in spec that hold a mask in place of a secret'),
});
export type ExportedObject = z.output<typeof ExportedObject>;

export const ConfigurationWrite = z.object({
  objects: z.array(ConfigurationObject).max(maxObjects),
  prune: z
    .array(kind)
    .max(kindNames.length)
    .default([])
    .describe('Kinds of which every object that is not sent is deleted'),
  force: z
    .boolean()
    .optional()
    .describe(
      'false refuses to delete what others depend on, true deletes it; without it management.delete_requires_force decides',
    ),
});
export type ConfigurationWrite = z.output<typeof ConfigurationWrite>;

/** A member that differs. Values of secrets are left out; long values are described. */
const MemberChange = z.object({
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  is_secret: z.literal(true).optional(),
});
export type MemberChange = z.output<typeof MemberChange>;

export const Change = z.object({
  kind,
  id,
  action: z.enum(['create', 'update', 'delete']),
  members: z.array(MemberChange).optional(),
  more_members: z.int().optional().describe('Differing members that are not listed'),
});
export type Change = z.output<typeof Change>;

const Route = z.object({ domain: z.string(), listen_path: z.string() });
export const ListenPathChange = z.object({ api: z.string(), before: Route.optional(), after: Route.optional() });
export type ListenPathChange = z.output<typeof ListenPathChange>;

/** Effect on live traffic. */
const TrafficChange = z.object({
  routes: z.array(ListenPathChange).describe('Listen paths that appear, move or vanish'),
  more_routes: z.int().optional(),
  apis: z.int().describe('APIs that are served differently, or no longer'),
  policies: z.array(z.string()).describe('Policies whose keys get other rights or limits'),
  keys: z.int().describe('Keys that may call a changed API, or that have a changed policy; counted up to 100000'),
});
export type TrafficChange = z.output<typeof TrafficChange>;

export const ConfigurationReport = z.object({
  changes: z.array(Change),
  unchanged: z.int(),
  traffic: TrafficChange,
  notices: z.array(z.string()).describe('Members without effect, and objects that prune leaves in place'),
});
export type ConfigurationReport = z.output<typeof ConfigurationReport>;

/** Fault of one object: of its envelope, or of a member below `spec`. */
export const Fault = z.object({ kind: z.string(), id: z.string(), path: z.string(), message: z.string() });
export type Fault = z.output<typeof Fault>;
