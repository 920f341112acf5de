import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Switch } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.settings;
type Rules = ResultOf<'GET /api/org/opa'>['open_policy'];

export function RuleCard() {
  const query = useOperation('GET /api/org/opa', {});
  const stored = query.data?.value.open_policy;
  return (
    <Card title={own.rules}>{stored ? <RuleEditor stored={stored} /> : <QueryState query={query} lines={3} />}</Card>
  );
}

/** Rules that apply to all users are confirmed: they can refuse every request but the one that mends them. */
function RuleEditor({ stored }: { stored: Rules }) {
  const draft = useDraft(stored);
  const { rules, enabled: isEnabled } = draft.value;
  const [isConfirming, setConfirming] = useState(false);
  const toasts = useToasts();
  const { mutate, error, isPending } = useWrite('PUT /api/org/opa', ['GET /api/org/opa']);
  const save = () =>
    mutate(
      { given: { body: { open_policy: { enabled: isEnabled, rules } } } },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.rulesSaved);
        },
        onSettled: () => setConfirming(false),
      },
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="text-dim">{own.rulesAbout}</p>
      <CodeEditor
        label={own.rulesLabel}
        language="text"
        value={rules}
        onChange={text => draft.change({ rules: text })}
      />
      <Switch
        label={own.rulesEnabled}
        checked={isEnabled}
        onChange={event => draft.change({ enabled: event.target.checked })}
      />
      <ErrorText error={error} />
      <Button
        className="self-end"
        disabled={!draft.isDirty}
        isBusy={isPending}
        onClick={() => (isEnabled ? setConfirming(true) : save())}
      >
        {own.saveRules}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        tier={2}
        title={own.rulesTitle}
        consequence={own.rulesConsequence}
        action={own.rulesAction}
        isBusy={isPending}
        onConfirm={save}
        onClose={() => setConfirming(false)}
      />
    </div>
  );
}
