/** The type of an event. A long one is cut before its last part: the verb tells the types of one family apart. */
import { visible } from '../app/format'
import css from './type-name.module.css'

/** Where the last part begins; 0 when there is only one. */
export function verbAt(type: string): number {
  const at = Math.max(...['.', '/', ':'].map((mark) => type.lastIndexOf(mark)))
  const found = at > 0 ? at : type.lastIndexOf('_')
  return found > 0 && found < type.length - 1 ? found : 0
}

export function TypeName({ type }: { readonly type: string }) {
  const text = visible(type)
  const at = verbAt(text)
  return (
    <span className={css.name} title={text}>
      {at > 0 ? <span className={css.family}>{text.slice(0, at)}</span> : null}
      <span className={css.verb}>{text.slice(at)}</span>
    </span>
  )
}
