import { refusedLimitTexts as own } from '../../texts/en/refused-limit.ts';
import { texts } from '../../texts/texts.ts';
import type { EffectiveRow } from '../keys/effective-values.ts';
import { describeRate } from './limit-text.ts';

/** Sentence about the limit of a key that refused a request; undefined where the key has none of this kind. */
export function describeKeyLimit(
  refusal: string,
  rows: readonly EffectiveRow[],
  nameOfPolicy: (id: string) => string,
): string | undefined {
  const isQuota = refusal === 'quota_exceeded';
  const { names } = texts.keys;
  const row = rows.find(({ name }) => name === (isQuota ? names.quota : names.rate));
  // At an endpoint of its own the key may have another limit than this one.
  if (!row || row.value === texts.kit.unlimited) return undefined;
  const period = isQuota ? rows.find(({ name }) => name === names.period)?.value : undefined;
  const value = [row.value, period].filter(Boolean).join(' ');
  return (isQuota ? own.quota : own.rate)(value, describeOrigin(row, nameOfPolicy));
}

function describeOrigin({ sources }: EffectiveRow, nameOfPolicy: (id: string) => string): string {
  if (sources.length === 0) return own.several;
  const policies = sources.filter(({ kind }) => kind !== 'key').map(({ id }) => nameOfPolicy(id));
  return policies.length > 0 ? own.policies(policies) : own.key;
}

interface RateSettings {
  readonly rate?: number;
  readonly perSeconds?: number;
  readonly method?: string;
  readonly path?: string;
}

const maxEndpoints = 5;
const describe = ({ rate = 0, perSeconds = 0 }: RateSettings) => describeRate({ rate, per: perSeconds });

interface ApiLimitSettings {
  readonly rateLimit?: RateSettings & { readonly enabled?: boolean };
  readonly 'endpoints.rateLimit'?: readonly RateSettings[];
}

/** Sentences about the limits of an API from the settings of the step: that of the API, and those of endpoints. */
export function describeApiLimit(settings: unknown): string | undefined {
  if (typeof settings !== 'object' || settings === null) return undefined;
  const { rateLimit, 'endpoints.rateLimit': ofEndpoints = [] } = settings as ApiLimitSettings;
  const endpoints = ofEndpoints
    .slice(0, maxEndpoints)
    .map(it => `${it.method ?? ''} ${it.path ?? ''} ${describe(it)}`.trim());
  const sentences = [
    ...(rateLimit?.enabled ? [own.api(describe(rateLimit))] : []),
    ...(endpoints.length > 0 ? [own.endpoints(endpoints.join('; '))] : []),
  ];
  return sentences.length > 0 ? sentences.join(' ') : undefined;
}
