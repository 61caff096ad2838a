import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, type Relation, Unique } from 'typeorm'
import { Operator } from './operator.entity.js'

@Entity('tariffs')
@Unique(['operator', 'code'])
export class Tariff {
  @PrimaryGeneratedColumn()
  id: number

  @ManyToOne(() => Operator, { nullable: false })
  operator: Relation<Operator>

  @Column()
  code: string

  @Column()
  name: string

  @Column({ type: 'numeric', precision: 12, scale: 2 })
  price: string

  @Column({ length: 3 })
  currency: string

  @Column({ default: true })
  onSale: boolean
}
