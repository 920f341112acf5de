import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { TextAreaField, TextField } from '../../kit/field.tsx';
import { FormDialog } from '../../kit/form-dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { validityTones } from '../certificates/validity-tones.ts';
import { RemovePart } from '../products/remove-part.tsx';

const own = adminTexts.organisationCertificates;
const listRoute = 'GET /portal-api/organisations/{organisation_id}/certificates';
type AssignedCertificate = ResultOf<typeof listRoute>[number];

/** Client certificates that requests of the developers of an organisation use. */
export function OrganisationCertificates({ organisationId }: { organisationId: string }) {
  const params = { organisation_id: organisationId };
  const list = useOperation(listRoute, { params });
  const withdraw = useWrite('DELETE /portal-api/organisations/{organisation_id}/certificates/{certificate_id}', [
    listRoute,
  ]);
  const [isAdding, setAdding] = useState(false);
  const [pending, setPending] = useState<AssignedCertificate>();
  const rows = list.data?.value;
  return (
    <Card
      title={own.title}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.assign}
        </Button>
      }
    >
      {!rows && <QueryState query={list} lines={2} />}
      {rows?.length === 0 && <p className="text-dim">{own.none}</p>}
      <ul className="flex flex-col gap-2">
        {rows?.map(it => (
          <li key={it.ID} className="flex min-h-8 flex-wrap items-center gap-2">
            <span className="break-words">{it.Name}</span>
            <StatusPill tone={validityTones[it.State]}>{adminTexts.certificates.states[it.State]}</StatusPill>
            <IdText id={it.Fingerprint} />
            <span className="text-dim">{own.facts(it.NotAfter, it.Credentials.length)}</span>
            <IconButton icon={Trash2} label={own.withdraw(it.Name)} onClick={() => setPending(it)} />
          </li>
        ))}
      </ul>
      {isAdding && <AssignDialog organisationId={organisationId} onClose={() => setAdding(false)} />}
      {pending && (
        <RemovePart
          action={own.withdraw(pending.Name)}
          consequence={own.withdrawConsequence}
          remove={() => withdraw.mutateAsync({ given: { params: { ...params, certificate_id: String(pending.ID) } } })}
          onClose={() => setPending(undefined)}
        />
      )}
    </Card>
  );
}

function AssignDialog({ organisationId, onClose }: { organisationId: string; onClose(): void }) {
  const [pem, setPem] = useState('');
  const [name, setName] = useState('');
  const assign = useWrite('POST /portal-api/organisations/{organisation_id}/certificates', [listRoute]);
  const toasts = useToasts();
  const readFile = async (file: File | undefined) => file && setPem(await file.text());
  const submit = () => {
    const body = { Certificate: pem, CertificateName: name.trim() };
    assign.mutate(
      { given: { params: { organisation_id: organisationId }, body } },
      {
        onSuccess: ({ value }) => {
          toasts.showSuccess(own.assigned(value.Name));
          onClose();
        },
      },
    );
  };
  return (
    <FormDialog
      title={own.assign}
      about={own.about}
      action={own.assign}
      error={assign.error}
      isBusy={assign.isPending}
      canSubmit={pem.trim() !== ''}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextAreaField label={own.pem} help={own.pemHelp} rows={6} value={pem} onChange={it => setPem(it.target.value)} />
      <TextField
        label={own.file}
        type="file"
        accept=".pem,.crt,.cer"
        className="py-1"
        onChange={event => void readFile(event.target.files?.[0])}
      />
      <TextField label={own.name} help={own.nameHelp} value={name} onChange={event => setName(event.target.value)} />
    </FormDialog>
  );
}
