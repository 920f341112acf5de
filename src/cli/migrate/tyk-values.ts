import { isObject, type JsonObject } from '#base/json-tree.ts';

/** Values as exports write them: `null` for absent members, numbers and booleans in quotes, texts without quotes. */

const freeMembers = new Set(['meta_data', 'metadata', 'config_data', 'configData', 'examples', 'example', 'schema']);

const numberMembers = new Set(
  (
    'rate per quota_max quota_renewal_rate quota_remaining quota_renews throttle_interval throttle_retry_limit ' +
    'max_query_depth expires allowance last_check data_expires key_expires_in session_lifetime cache_timeout max_age ' +
    'listen_port expire_analytics_after hmac_allowed_clock_skew jwt_expires_at_validation_skew ' +
    'jwt_issued_at_validation_skew jwt_not_before_validation_skew recheck_wait id_extractor_deadline ssl_min_version ' +
    'ssl_max_version allowed_clock_skew event_timeout size_limit threshold_percent samples return_to_service_after'
  ).split(' '),
);
const textMembers = new Set(
  'api_id org_id id _id name slug default_version alias key_id client_id policy_id api_name description version'.split(
    ' ',
  ),
);
const isBooleanMember = (name: string) => /^(use_|enable_|disable_|is_|do_not_)|^(active|internal|enabled)$/.test(name);

export interface ReadValue {
  readonly value: unknown;
  /** Paths whose type changed. */
  readonly changed: readonly string[];
}

/** Value with the types that the members have. A text that is no number stays: the write rejects it with its path. */
export function readExportedValue(value: unknown): ReadValue {
  const changed: string[] = [];
  return { value: readValue(value, '', changed), changed };
}

function readValue(value: unknown, path: string, changed: string[]): unknown {
  if (Array.isArray(value))
    return value.filter(it => it !== null).map((item, index) => readValue(item, `${path}[${index}]`, changed));
  return isObject(value) ? readMembers(value, path, changed) : value;
}

function readMembers(value: JsonObject, path: string, changed: string[]): JsonObject {
  const entries = Object.entries(value).flatMap(([name, inside]) => {
    if (freeMembers.has(name)) return [[name, inside] as const];
    if (inside === null) return [];
    const place = path === '' ? name : `${path}.${name}`;
    const typed = toTyped(name, inside);
    if (typed !== inside) changed.push(place);
    return [[name, readValue(typed, place, changed)] as const];
  });
  return Object.fromEntries(entries);
}

function toTyped(name: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (numberMembers.has(name) && /^-?\d{1,15}(\.\d{1,10})?$/.test(value.trim())) return Number(value);
    if (isBooleanMember(name) && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  }
  return typeof value === 'number' && textMembers.has(name) ? String(value) : value;
}
