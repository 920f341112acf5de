import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { FlowStep, StepList, type StepState } from '../../kit/step-list.tsx';
import { texts } from '../../texts/texts.ts';
import { type ApiOutline, toApiOutline } from '../apis/api-outline.ts';
import { usePreferences } from '../session/preferences.ts';
import { usePermission, useSession } from '../session/session.ts';
import { ApiStep } from './api-step.tsx';
import { CallStep } from './call-step.tsx';
import { KeyStep } from './key-step.tsx';
import { LiveChart } from './live-chart.tsx';
import { samplePath } from './sample-api.ts';
import { useLiveUsage } from './use-live-usage.ts';

const own = texts.welcome;

/** Introduction: an API, a key, a request and its chart on one page. The API is in the address: a reload goes on. */
export function WelcomePage() {
  const { api: apiId } = useSearch({ from: '/shell/welcome' });
  const navigate = useNavigate();
  const { preferences, change } = usePreferences();
  const apis = useOperation('GET /api/apis', { query: {} });
  const finish = () => {
    change({ first_run: { step: preferences?.first_run?.step ?? 0, is_done: true } });
    void navigate({ to: '/' });
  };
  const open = (api: string) => {
    change({ first_run: { step: 1, is_done: false } });
    void navigate({ to: '/welcome', search: { api } });
  };
  return (
    <div className="max-w-[800px]">
      <PageFrame
        title={own.title}
        about={own.about}
        width="form"
        actions={<Button onClick={finish}>{own.skip}</Button>}
      >
        {apiId !== undefined ? (
          <PublishedSteps key={apiId} apiId={apiId} onFinish={finish} />
        ) : apis.data ? (
          <StepList label={own.title}>
            <FlowStep number={1} title={own.steps.api} state="current">
              <ApiStep apiCount={apis.data.value.apis.length} onCreated={open} />
            </FlowStep>
            <FlowStep number={2} title={own.steps.key} state="waiting" />
            <FlowStep number={3} title={own.steps.call} state="waiting" />
            <FlowStep number={4} title={own.steps.next} state="waiting" />
          </StepList>
        ) : (
          <QueryState query={apis} />
        )}
      </PageFrame>
    </div>
  );
}

interface PublishedStepsProps {
  readonly apiId: string;
  onFinish(): void;
}

/** Steps after the first, for the API of the address. */
function PublishedSteps({ apiId, onFinish }: PublishedStepsProps) {
  const query = useOperation('GET /api/apis/{apiId}', { params: { apiId } });
  const url = useOperation('GET /api/apis/{apiId}/url', { params: { apiId } });
  if (!query.data) return <QueryState query={query} />;
  if (!url.data) return <QueryState query={url} />;
  const isSample = Object.hasOwn(Object(query.data.value.oas?.paths), `/${samplePath}`);
  const base = url.data.value.ApiURL;
  const address = isSample ? `${base.replace(/\/?$/, '/')}${samplePath}` : base;
  return <ApiSteps api={toApiOutline(query.data.value)} base={base} address={address} onFinish={onFinish} />;
}

interface ApiStepsProps {
  readonly api: ApiOutline;
  readonly base: string;
  readonly address: string;
  onFinish(): void;
}

function ApiSteps({ api, base, address, onFinish }: ApiStepsProps) {
  const isKeyless = api.authentication.includes('keyless');
  const [key, setKey] = useState<{ readonly secret: string | undefined } | undefined>(
    isKeyless ? { secret: undefined } : undefined,
  );
  const [hasAnswer, setAnswer] = useState(false);
  const canReadUsage = usePermission('analytics');
  const usage = useLiveUsage(api.id, canReadUsage);
  const after = (isReady: boolean): StepState => (isReady ? 'current' : 'waiting');
  return (
    <StepList label={own.title}>
      <FlowStep number={1} title={own.steps.api} state="done" summary={own.published(api.name, base)} />
      <FlowStep
        number={2}
        title={own.steps.key}
        state={key ? 'done' : 'current'}
        summary={isKeyless ? own.keyless : key?.secret === undefined ? own.withoutKey : own.keyDone}
      >
        <KeyStep api={api} onKey={secret => setKey({ secret })} />
      </FlowStep>
      <FlowStep number={3} title={own.steps.call} state={after(key !== undefined)}>
        <CallStep address={address} api={api} secret={key?.secret} onAnswer={() => setAnswer(true)} />
        {canReadUsage && <LiveChart usage={usage} />}
      </FlowStep>
      <FlowStep number={4} title={own.steps.next} state={after(hasAnswer)}>
        <NextSteps apiId={api.id} onFinish={onFinish} />
      </FlowStep>
    </StepList>
  );
}

function NextSteps({ apiId, onFinish }: { apiId: string; onFinish(): void }) {
  const canReadUsage = usePermission('analytics');
  const canWriteUsers = usePermission('users:write');
  const { portal_url: portal } = useSession();
  return (
    <>
      <p className="text-dim">{own.nextAbout}</p>
      <div className="flex flex-wrap gap-2">
        <Link to="/apis/$apiId" params={{ apiId }} className={buttonClass()}>
          {own.openApi}
        </Link>
        {canReadUsage && (
          <Link to="/analytics" search={{ api_id: apiId }} className={buttonClass()}>
            {own.analytics}
          </Link>
        )}
        {canWriteUsers && (
          <Link to="/users/new" className={buttonClass()}>
            {own.newUser}
          </Link>
        )}
        {portal && (
          <a href={`${portal}/admin/api_products/new`} className={buttonClass()}>
            {own.portal}
          </a>
        )}
        <Button kind="primary" onClick={onFinish}>
          {own.finish}
        </Button>
      </div>
    </>
  );
}
