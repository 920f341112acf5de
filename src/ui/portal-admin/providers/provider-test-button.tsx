import { PlugZap } from 'lucide-react';
import { useState } from 'react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { FactList } from '../../kit/card.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.providers;
const route = 'PUT /portal-api/providers/{provider_id}/test';
type ProviderCheck = ResultOf<typeof route>['Checks'][number];
const tones: Readonly<Record<ProviderCheck['Result'], Tone>> = {
  passed: 'success',
  failed: 'danger',
  skipped: 'neutral',
};

/** Tests the stored provider, and lists the result of each check. */
export function ProviderTestButton({ providerId }: { readonly providerId: string }) {
  const [isOpen, setOpen] = useState(false);
  const test = useWrite(route);
  const run = () => {
    setOpen(true);
    test.mutate({ given: { params: { provider_id: providerId } } });
  };
  const checks = test.data?.value.Checks ?? [];
  return (
    <>
      <Button icon={PlugZap} onClick={run}>
        {own.test}
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={own.test} about={own.testAbout}>
        {test.isPending && <Skeleton />}
        <ErrorText error={test.error} />
        <FactList
          rows={checks.map(
            ({ Check, Result, Reason }) =>
              [
                own.checks[Check],
                <span key={Check} className="flex flex-col items-start gap-1">
                  <StatusPill tone={tones[Result]}>{own.results[Result]}</StatusPill>
                  {Reason && <span className="text-dim break-words">{Reason}</span>}
                </span>,
              ] as const,
          )}
        />
      </Dialog>
    </>
  );
}
