import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CommandText } from '../../kit/command-text.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { toCurl } from '../../kit/curl.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from './api-outline.ts';
import { toJsonObject } from './form/json-members.ts';
import { buildSampleCall } from './sample-call.ts';

const own = texts.apis;

interface CallCardProps {
  readonly api: ApiOutline;
  readonly item: ResultOf<'GET /api/apis/{apiId}'>;
}

/** Further addresses of an API: below its base, or with the name of its version in the request. */
function FurtherUrls({ apiId, shown }: { apiId: string; shown: string }) {
  const { data } = useOperation('GET /api/apis/oas/{apiId}/urls', { params: { apiId } });
  const further = (data?.value.urls ?? []).filter(it => it.url !== shown || it.headers.length > 0);
  if (further.length === 0) return null;
  return (
    <ul aria-label={own.furtherAddresses} className="flex flex-col gap-1">
      {further.map(({ url, headers }) => {
        const sent = headers.map(({ name, value }) => `${name}: ${value}`).join(', ');
        return (
          <li key={`${url} ${sent}`} className="flex flex-wrap items-center gap-1">
            <code className="font-mono break-all">{url}</code>
            <CopyButton text={url} label={own.furtherAddress(url)} />
            {sent && <span className="text-small text-dim">{own.withHeader(sent)}</span>}
          </li>
        );
      })}
    </ul>
  );
}

/** Address of an API, and a command that calls it. */
export function CallCard({ api, item }: CallCardProps) {
  const query = useOperation('GET /api/apis/{apiId}/url', { params: { apiId: api.id } });
  if (!query.data)
    return (
      <Card title={own.callTitle}>
        <QueryState query={query} lines={2} />
      </Card>
    );
  const url = query.data.value.ApiURL;
  const document = item.oas === undefined ? undefined : toJsonObject(item.oas);
  const { authentication, isGraphql } = api;
  const source = { url, authentication, isGraphql, classic: toJsonObject(item.api_definition), document };
  return (
    <Card title={own.callTitle}>
      <div className="flex flex-col gap-3">
        <div className="flex items-center gap-1">
          <code className="font-mono break-all">{url}</code>
          <CopyButton text={url} label={own.address} />
        </div>
        {api.format === 'oas' && <FurtherUrls apiId={api.id} shown={url} />}
        <p className="text-small text-dim">{own.callAbout}</p>
        <CommandText command={toCurl(buildSampleCall(source, own.placeholders))} label={own.copyCommand} />
        <div>
          <Link to="/apis/$apiId/try" params={{ apiId: api.id }} className={buttonClass()}>
            {own.tryInBrowser}
          </Link>
        </div>
      </div>
    </Card>
  );
}
