import { type ChangeEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { toBodyOf } from '../../kit/calls.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Checkbox, TextField } from '../../kit/field.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { configurationFileTexts as own } from '../../texts/en/configuration-files.ts';
import { ConfigurationPlan, type PlanReport } from './configuration-plan.tsx';

/** Lists that an import changes. */
const reads = [
  'GET /api/apis',
  'GET /api/portal/policies/search',
  'GET /api/hooks',
  'GET /api/certs',
  'GET /api/users',
  'GET /api/usergroups',
  'GET /api/assets',
] as const;

/** Objects of an exported file; the server checks each of them. */
function readObjects(text: string): readonly { readonly kind: string }[] {
  try {
    const { objects } = JSON.parse(text) as { objects?: unknown };
    if (Array.isArray(objects)) return objects;
  } catch {
    // Reported below, as a document without objects.
  }
  throw new Error(own.unreadable);
}

const countActions = ({ changes }: PlanReport) => {
  const count = (action: string) => changes.filter(it => it.action === action).length;
  return { created: count('create'), updated: count('update'), deleted: count('delete') };
};

const toCounts = (report: PlanReport) => {
  const { created, updated, deleted } = countActions(report);
  return own.counts(formatNumber(created), formatNumber(updated), formatNumber(deleted));
};

/** Plan and import of a text, with the fault of the last attempt. */
function useImport() {
  const [source, setSource] = useState({ text: '', isPruning: false });
  const [fault, setFault] = useState<Error>();
  const toasts = useToasts();
  const plan = useWrite('POST /api/configuration/plan');
  const apply = useWrite('POST /api/configuration/apply', [...reads]);
  const restart = () => {
    plan.reset();
    apply.reset();
    setFault(undefined);
  };
  const toBody = () => {
    const objects = readObjects(source.text);
    const prune = source.isPruning ? [...new Set(objects.map(({ kind }) => kind))] : [];
    return toBodyOf<'POST /api/configuration/plan'>({ objects, prune });
  };
  return {
    source,
    /** Another file or choice: the plan is of the earlier one. */
    change(some: Partial<typeof source>) {
      restart();
      setSource(before => ({ ...before, ...some }));
    },
    preview() {
      restart();
      try {
        plan.mutate({ given: { body: toBody() } });
      } catch (error) {
        setFault(error as Error);
      }
    },
    write(onSettled: () => void) {
      const onSuccess = (report: PlanReport) => {
        toasts.showSuccess(own.applied(toCounts(report)));
        plan.reset();
      };
      apply.mutate(
        { given: { body: toBody() }, options: { wait: 'applied' } },
        { onSuccess: ({ value }) => onSuccess(value.Meta), onSettled },
      );
    },
    report: plan.data?.value.Meta,
    isPlanning: plan.isPending,
    isWriting: apply.isPending,
    error: fault ?? plan.error ?? apply.error,
  };
}

/** A chosen file is planned first; the plan is applied after a confirmation. */
export function ConfigurationImport() {
  const [isConfirming, setConfirming] = useState(false);
  const { source, change, preview, write, report, isPlanning, isWriting, error } = useImport();
  /** The earlier file cannot be previewed while another is read; a read that a later choice overtakes is dropped. */
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    change({ text: '' });
    const file = target.files?.[0];
    const text = await file?.text();
    if (text !== undefined && target.files?.[0] === file) change({ text });
  };
  const close = () => setConfirming(false);
  return (
    <div className="flex flex-col gap-3">
      <TextField label={own.file} type="file" accept=".json" className="py-1" onChange={choose} />
      <Checkbox
        label={own.prune}
        help={own.pruneHelp}
        checked={source.isPruning}
        onChange={event => change({ isPruning: event.target.checked })}
      />
      <Button className="self-start" disabled={source.text === ''} isBusy={isPlanning} onClick={preview}>
        {own.preview}
      </Button>
      <ErrorText error={error} />
      {report && <ConfigurationPlan report={report} counts={toCounts(report)} onApply={() => setConfirming(true)} />}
      {report && (
        <ConfirmDialog
          isOpen={isConfirming}
          tier={countActions(report).deleted > 0 ? 3 : 2}
          title={own.applyTitle}
          consequence={own.applyConsequence(toCounts(report))}
          action={own.applyAction}
          isBusy={isWriting}
          onConfirm={() => write(close)}
          onClose={close}
        />
      )}
    </div>
  );
}
