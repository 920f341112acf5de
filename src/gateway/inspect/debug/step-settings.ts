import { isSecretName } from '#base/secret-names.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { credentialMask } from '../../pipeline/mask-query.ts';
import type { StepReads } from '../../pipeline/step.ts';
import { order } from '../../steps/order.ts';

/** Parts of a definition that configure each step, as the steps declare them. */
const readsByStep: ReadonlyMap<string, StepReads> = new Map(order.map(({ step }) => [step.name, step.reads ?? {}]));

/** Longer settings are truncated: a trace line is bounded. */
const maxSettingsCharacters = 1500;

/** A step's settings with secrets masked and unset members removed; undefined without any. */
export function describeStepSettings(step: string, model: Model, version: VersionModel | undefined): unknown {
  const reads = readsByStep.get(step) ?? {};
  const shared: [string, unknown][] = [
    ...(reads.api ?? []).map((name): [string, unknown] => [name, model[name]]),
    ...(version ? (reads.version ?? []).map((name): [string, unknown] => [name, version[name]]) : []),
  ];
  // A facet of the API and one of its endpoints may have the same name: both are shown.
  const toEndpointName = (name: string) => (shared.some(([it]) => it === name) ? `endpoints.${name}` : name);
  const ofEndpoints = (version ? (reads.endpoints ?? []) : []).map((name): [string, unknown] => [
    toEndpointName(name),
    version!.endpoints[name],
  ]);
  const entries = [...shared, ...ofEndpoints];
  const settings = Object.fromEntries(
    entries.map(([name, value]) => [name, mask(value)]).filter(([, it]) => !isUnset(it)),
  );
  if (Object.keys(settings).length === 0) return undefined;
  const text = JSON.stringify(settings);
  return text.length <= maxSettingsCharacters ? settings : `${text.slice(0, maxSettingsCharacters)}…`;
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Members that may hold a key instead of a URL. */
const keyOrUrlNames = /^(?:source|keysets)$/i;
/** Members whose values may be credentials, whatever the header name. */
const secretValueNames = /^(?:add|add_headers|headers|extrametadata|customparams)$/i;

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, maskMember(name, inner)] as const);
  return Object.fromEntries(members.filter(([, inner]) => !isUnset(inner)));
}

function maskMember(name: string, value: unknown): unknown {
  if (isUnset(value)) return undefined;
  if (typeof value !== 'boolean' && (isSecretName(name) || keyOrUrlNames.test(name))) return credentialMask;
  if (secretValueNames.test(name) && typeof value === 'object' && !Array.isArray(value))
    return Object.fromEntries(Object.keys(value!).map(header => [header, credentialMask]));
  return mask(value);
}
