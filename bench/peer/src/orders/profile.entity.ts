import { Column, Entity, Index, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm'
import { Tariff } from '../catalogue/tariff.entity.js'

export enum ProfileStatus {
  Free = 'free',
  Reserved = 'reserved',
  Sold = 'sold',
}

@Entity('profiles')
@Index(['tariffId', 'status', 'id'])
export class Profile {
  @PrimaryGeneratedColumn()
  id: number

  @Column()
  tariffId: number

  @ManyToOne(() => Tariff, { nullable: false })
  tariff: Relation<Tariff>

  @Column({ type: 'enum', enum: ProfileStatus, default: ProfileStatus.Free })
  status: ProfileStatus

  @Column({ unique: true })
  iccid: string

  @Column()
  msisdn: string

  @Column()
  pin1: string

  @Column()
  activationCode: string
}
