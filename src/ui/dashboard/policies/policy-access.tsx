import { Badge } from '../../kit/badge.tsx';
import { Card } from '../../kit/card.tsx';
import { Disclosure } from '../../kit/disclosure.tsx';
import { JsonField } from '../../kit/json-field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from '../apis/api-outline.ts';
import { LimitFields } from '../limits/limit-fields.tsx';
import { describeRate } from '../limits/limit-text.ts';
import { ApiPicker } from '../pickers/api-picker.tsx';
import { type PolicyPartProps, type PolicyRight, scopeOf } from './policy-draft.ts';
import { PolicyName } from './policy-name.tsx';

const own = texts.policies;

const newRight = ({ id, name }: PickItem): PolicyRight => ({ api_id: id, api_name: name, versions: ['Default'] });

/** APIs that keys of the policy may call, and what is allowed on each. */
export function PolicyAccess(props: PolicyPartProps) {
  const { value, change, isDisabled, hasName, faultOf, onFault } = props;
  const rights = value.access_rights ?? {};
  const chosen = Object.entries(rights).map(([id, right]) => ({ id, name: right?.api_name || id }));
  const choose = (items: readonly PickItem[]) =>
    change({
      access_rights: Object.fromEntries(items.map(it => [it.id, rights[it.id] ?? newRight(it)])),
      // The first API decides; the server derives it again from all of them.
      ...(chosen.length === 0 ? { auth_type: items[0]?.kind ?? 'other' } : {}),
    });
  const changeRight = (id: string, some: Partial<PolicyRight>) =>
    change({ access_rights: { ...rights, [id]: { ...rights[id], ...some } } });
  const fault = faultOf('apis');
  return (
    <div className="flex flex-col gap-4">
      <ErrorText error={fault ? new Error(fault) : null} />
      {hasName && (
        <Card>
          <PolicyName {...props} />
        </Card>
      )}
      <Card title={own.chooseApis}>
        <ApiPicker
          title={own.chooseApisAbout}
          chosen={chosen}
          onChange={choose}
          isDisabled={isDisabled}
          reasonOf={api => findReason(api, chosen.length > 0 ? (value.auth_type ?? '') : '')}
        />
      </Card>
      {chosen.map(({ id, name }) => (
        <RightCard
          key={id}
          name={name}
          right={rights[id] ?? {}}
          isPerApi={scopeOf(value) === 'per_api'}
          isDisabled={isDisabled}
          change={some => changeRight(id, some)}
          onFault={it => onFault(id, it)}
        />
      ))}
    </div>
  );
}

/** One key cannot pass two kinds of authentication: APIs of another kind are not offered. */
function findReason({ authentication }: ApiOutline, wanted: string): string | undefined {
  if (authentication.includes('keyless')) return own.needsNoKey;
  const isKnown = wanted !== '' && wanted !== 'other';
  if (!isKnown || authentication.includes('other') || authentication.includes(wanted)) return undefined;
  return own.otherAuthentication(texts.apis.authentication[wanted] ?? wanted);
}

interface RightCardProps {
  readonly name: string;
  readonly right: PolicyRight;
  readonly isPerApi: boolean;
  readonly isDisabled: boolean;
  change(some: Partial<PolicyRight>): void;
  onFault(fault: string | undefined): void;
}

/** Closed, it says what is set. */
function RightCard({ name, right, isPerApi, isDisabled, change, onFault }: RightCardProps) {
  const { versions, allowed_urls, limit, ...others } = right;
  const { api_id: _id, api_name: _name, ...advanced } = others;
  const paths = allowed_urls ?? [];
  return (
    <Disclosure
      className="rounded-card border border-line bg-surface px-4 py-3"
      summary={
        <>
          <span className="font-medium">{name}</span>
          <Badge>{(versions ?? []).join(', ') || own.noVersions}</Badge>
          {paths.length > 0 && <Badge tone="info">{own.pathCount(paths.length)}</Badge>}
          {isPerApi && <Badge>{describeRate(limit ?? {})}</Badge>}
        </>
      }
    >
      <fieldset disabled={isDisabled} className="flex flex-col gap-4 pt-4">
        <LinesField
          label={own.versions}
          help={own.versionsHelp}
          rows={2}
          values={versions ?? []}
          onChange={next => change({ versions: [...next] })}
        />
        <LinesField
          label={own.allowedPaths}
          help={own.allowedPathsHelp}
          separator="line"
          values={paths.map(formatUrl)}
          onChange={lines => change({ allowed_urls: lines.map(parseUrl) })}
        />
        {isPerApi && <LimitFields limits={limit ?? {}} onChange={some => change({ limit: { ...limit, ...some } })} />}
        <JsonField
          label={own.advanced}
          help={own.advancedHelp}
          value={advanced}
          onChange={next => change(replaceMembers(advanced, next))}
          onFault={onFault}
        />
      </fieldset>
    </Disclosure>
  );
}

type Url = NonNullable<PolicyRight['allowed_urls']>[number];
const formatUrl = ({ url = '', methods }: Url) => [(methods ?? []).join(','), url].filter(Boolean).join(' ');

/** `GET,POST /orders.*`: methods, then the pattern of the path; a line without methods allows all of them. */
function parseUrl(line: string): Url {
  const [, methods = '', url = ''] = /^(?:([A-Za-z, ]+?)\s+)?(\S.*)$/.exec(line) ?? [];
  return { url, methods: methods.split(/[, ]+/).filter(Boolean) };
}

/** Members that the new text no longer has are removed. */
function replaceMembers(before: object, next: unknown): Partial<PolicyRight> {
  const removed = Object.fromEntries(Object.keys(before).map(name => [name, undefined]));
  return { ...removed, ...(typeof next === 'object' && next !== null ? next : {}) };
}
