import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { productReads } from './reference-upload.tsx';

const own = adminTexts.references;

/** A specification without an API: its document is at an address, or uploaded afterwards. */
export function SpecDialog({ productId: product_id, onClose }: { productId: string; onClose(): void }) {
  const [draft, setDraft] = useState({ SpecAlias: '', Name: '', OASUrl: '' });
  const create = useWrite('POST /portal-api/products/{product_id}/spec-details', productReads);
  const bind = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  });
  return (
    <Dialog isOpen title={own.add} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          create.mutate({ given: { params: { product_id }, body: draft } }, { onSuccess: onClose });
        }}
      >
        <ErrorText error={create.error} />
        <TextField label={own.name} {...bind('Name')} />
        <TextField label={own.alias} help={own.aliasHelp} required isMono {...bind('SpecAlias')} />
        <TextField label={own.address} help={own.addressHelp} {...bind('OASUrl')} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending}>
            {own.add}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
